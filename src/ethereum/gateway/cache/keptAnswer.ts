import type { Deflated } from '../../../platform/contentCoding/index.ts';

/** An answer that is at hand for whoever asks for it again; its compressed form is kept with it. */
export class KeptAnswer {
  readonly bytes: Buffer;
  /** Undefined until somebody has wanted it. */
  deflated: Deflated | undefined;
  isBeingDeflated = false;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  keep(deflated: Deflated): void {
    this.deflated = deflated;
  }
}
