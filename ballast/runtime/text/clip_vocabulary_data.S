// The packed CLIP vocabulary as read-only data of the library: `ballast_clip_vocabulary` up to
// `ballast_clip_vocabulary_end`. BALLAST_CLIP_VOCABULARY is the path of the file at build time.
#if defined(__APPLE__)
#define SYMBOL(name) _##name
#define HIDDEN(name) .private_extern _##name
    .section __TEXT,__const
#else
#define SYMBOL(name) name
#define HIDDEN(name) .hidden name
    .section .rodata
#endif
    .global SYMBOL(ballast_clip_vocabulary)
    .global SYMBOL(ballast_clip_vocabulary_end)
    HIDDEN(ballast_clip_vocabulary)
    HIDDEN(ballast_clip_vocabulary_end)
    .balign 16
SYMBOL(ballast_clip_vocabulary):
    .incbin BALLAST_CLIP_VOCABULARY
SYMBOL(ballast_clip_vocabulary_end):
    .byte 0
#if defined(__ELF__)
    .section .note.GNU-stack,"",%progbits
#endif
