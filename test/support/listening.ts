/** The log of a server that is started, and the addresses that it tells in it. */
export class Listening {
  /** All lines so far, each with its end. */
  written = '';
  /** Where it listens, once it does. Rejects, with the log, where it ends before. */
  readonly listening: Promise<{ readonly url: string; readonly dnsPort: number }>;
  #listens!: (where: { url: string; dnsPort: number }) => void;
  #ended!: (error: Error) => void;
  #dnsPort = 0;

  constructor() {
    this.listening = new Promise((resolve, reject) => {
      this.#listens = resolve;
      this.#ended = reject;
    });
  }

  add(line: string): void {
    this.written += `${line}\n`;
    this.#dnsPort = Number(/"dns":\["127\.0\.0\.1:(\d+)"\]/.exec(line)?.[1] ?? this.#dnsPort);
    const url = /"url":"(https?:[^"]+)".*"msg":"listening"/.exec(line)?.[1];
    if (url !== undefined) this.#listens({ url, dnsPort: this.#dnsPort });
  }

  ended(why: string): void {
    this.#ended(new Error(`${why}:\n${this.written}`));
  }
}
