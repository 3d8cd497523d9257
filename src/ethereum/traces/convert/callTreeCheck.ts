import type { Trace } from '../index.ts';
import { showPath } from './place.ts';

/**
 * Follows frames in pre-order and checks that `traceAddress` and `subtraces` describe one complete tree after another:
 * every frame stands where the next child is due, and every frame has got all its children before the walk leaves it.
 */
export class CallTreeCheck {
  readonly #fail: (reason: string) => Error;
  /** The frame at each depth of the current path: children that it must have, and those seen so far. */
  readonly #due: number[] = [];
  readonly #seen: number[] = [];
  #depth = -1;

  constructor(fail: (reason: string) => Error) {
    this.#fail = fail;
  }

  /** The next frame. @throws what `fail` makes, unless it fits what came before. */
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

  /** After the last frame. @throws what `fail` makes, where children are missing. */
  end(): void {
    this.#leave(0);
    this.#depth = -1;
  }

  /** Leaves the frames of the current path from this depth down, each of which must be complete. */
  #leave(depth: number): void {
    for (let i = this.#depth; i >= depth; i--)
      if (this.#seen[i] !== this.#due[i])
        throw this.#fail(`a frame at depth ${i} says ${this.#due[i]} subtraces and has ${this.#seen[i]}`);
  }
}
