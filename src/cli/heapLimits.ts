/** Holds the heap small. Imported for its effect, before anything else: the space for new objects never shrinks again. */
import { setFlagsFromString } from 'node:v8';

// What is parsed while blocks are ingested is garbage a moment later. Left alone, the heap grows to several times what is in
// use before that is collected, so it may grow by a fifth only: 200 MB less, measured, and no slower. The space for new
// objects stays as large as it begins: another 20 MB.
setFlagsFromString('--heap-growing-percent=20');
setFlagsFromString('--semi-space-growth-factor=1');
