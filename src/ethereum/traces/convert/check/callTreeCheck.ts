import type { Trace } from '../../index.ts';
import { showPath } from '../json/parseContext.ts';

/** Checks that `traceAddress` and `subtraces` of frames in pre-order describe complete trees. */
export class CallTreeCheck {
  readonly #fail: (reason: string) => Error;
  /** For each frame of the current path: how many children it must have (`#due`), and has so far (`#seen`). */
  readonly #due: number[] = [];
  readonly #seen: number[] = [];
  #depth = -1;

  constructor(fail: (reason: string) => Error) {
    this.#fail = fail;
  }

  /** Checks the next frame. @throws the error that `fail` returns if the frame cannot follow the previous frames. */
  next(trace: Trace, index: number): void {
    const path = trace.traceAddress;
    const depth = path.length;
    if (depth > this.#depth + 1) throw this.#fail(`trace ${index} at ${showPath(path)} has no parent`);
    this.#leave(depth);
    for (let i = 0; i < depth; i++) {
      const seen = this.#seen[i] ?? 0;
      const expected = i === depth - 1 ? seen : seen - 1;
      if (path[i] !== expected) throw this.#fail(`trace ${index} at ${showPath(path)} is out of order`);
    }
    if (depth > 0) this.#seen[depth - 1] = (this.#seen[depth - 1] ?? 0) + 1;
    this.#seen[depth] = 0;
    this.#due[depth] = trace.subtraces;
    this.#depth = depth;
  }

  /** Must be called after the last frame. @throws the error that `fail` returns if a frame lacks children. */
  end(): void {
    this.#leave(0);
    this.#depth = -1;
  }

  /** Removes the frames from this depth on from the current path. They must have all their children. */
  #leave(depth: number): void {
    for (let i = this.#depth; i >= depth; i--)
      if (this.#seen[i] !== this.#due[i])
        throw this.#fail(
          `a frame at depth ${i} has ${this.#seen[i]} children, but subtraces ${this.#due[i]}`,
        );
  }
}
