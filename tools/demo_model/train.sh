#!/bin/sh
# Makes the demo checkpoint from nothing: train.sh WORK_FOLDER. About 105 minutes on one core.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$1
python=${PYTHON:-python3}
file=$here/../../data/demo/models/checkpoints/ballast-demo.safetensors
export OMP_NUM_THREADS=1
mkdir -p "$work" "$(dirname "$file")"
work=$(cd "$work" && pwd)
cd "$here"
$python train_vae.py "$work/vae.pt" 22
$python train_text.py "$work/text.pt" 1.5
$python encode_latents.py "$work/vae.pt" "$work/latents.pt" 14336
$python train_diffusion.py "$work/latents.pt" "$work/diffusion.pt" 48 --text "$work/text.pt"
$python train_vae.py "$work/vae_final.pt" 8 --decoder "$work/vae.pt" --rate 5e-4
$python encode_latents.py "$work/vae.pt" "$work/latents_late.pt" 16384 late
$python train_diffusion.py "$work/latents_late.pt" "$work/diffusion_late.pt" 18 \
    --resume "$work/diffusion.pt" --rate 7e-4
$python export.py "$work/vae_final.pt" "$work/diffusion_late.pt" "$file"
$python evaluate.py --checkpoint "$file" --count 400 --pairs 80
