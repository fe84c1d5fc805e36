#!/bin/sh
# Makes the demo checkpoint from nothing: train.sh WORK_FOLDER. About 90 minutes on one core.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$1
python=${PYTHON:-python3}
export OMP_NUM_THREADS=1
mkdir -p "$work" "$here/../../data/demo/models/checkpoints"
cd "$here"
$python train_vae.py "$work/vae.pt" 22
$python encode_latents.py "$work/vae.pt" "$work/latents.pt" 14336
$python train_text.py "$work/text.pt" 1.5
$python train_diffusion.py "$work/latents.pt" "$work/diffusion.pt" 42 --text "$work/text.pt"
$python train_vae.py "$work/vae_final.pt" 8 --decoder "$work/vae.pt" --rate 5e-4
$python export.py "$work/vae_final.pt" "$work/diffusion.pt" "$here/../../data/demo/models/checkpoints/ballast-demo.safetensors"
$python evaluate.py --checkpoint "$here/../../data/demo/models/checkpoints/ballast-demo.safetensors"
