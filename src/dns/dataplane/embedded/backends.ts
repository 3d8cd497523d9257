import type { ServerAddress } from '../../../platform/addresses/index.ts';
import type { Question } from '../../protocol/index.ts';
import { Backend, type BackendOptions } from './backend.ts';

/** The servers behind the guard: questions go to those that answer, in turn; to all in turn when none does. */
export class Backends {
  readonly all: readonly Backend[];
  #turn = 0;

  constructor(addresses: readonly ServerAddress[], options: BackendOptions) {
    this.all = addresses.map((address) => new Backend(address, options));
  }

  async opened(): Promise<void> {
    await Promise.all(this.all.map((backend) => backend.opened()));
  }

  /** False when the query could not be sent to any server. */
  forward(
    query: Buffer,
    question: Question,
    address: string,
    port: number,
    frontend: number,
    nowMs: number,
  ): boolean {
    const backend = this.#pick();
    return backend.forward(query, question, address, port, frontend, nowMs);
  }

  /** The servers in the order in which a TCP connection tries them. */
  inOrder(): ServerAddress[] {
    const first = this.#pick();
    const others = this.all.filter((backend) => backend !== first);
    return [first, ...others.filter(({ up }) => up), ...others.filter(({ up }) => !up)].map(
      ({ address }) => address,
    );
  }

  tick(nowMs: number): void {
    for (const backend of this.all) backend.tick(nowMs);
  }

  close(): void {
    for (const backend of this.all) backend.close();
  }

  #pick(): Backend {
    const any =
      this.#next(({ up }) => up) ?? this.#next(({ reachable }) => reachable) ?? this.#next(() => true);
    if (any === undefined) throw new Error('the guard has no server behind it: name one in dns.servers');
    return any;
  }

  /** The next in turn of those that are as wanted. */
  #next(isWanted: (backend: Backend) => boolean): Backend | undefined {
    const count = this.all.length;
    for (let tried = 0; tried < count; tried++) {
      const backend = this.all[this.#turn++ % count];
      if (backend !== undefined && isWanted(backend)) return backend;
    }
    return undefined;
  }
}
