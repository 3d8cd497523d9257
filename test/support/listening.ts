/** Collects the log of a started server, and reads the addresses from it. */
export class StartupLog {
  /** All log lines so far, each with a line break. */
  written = '';
  /** Resolves with the addresses when the server listens. Rejects with the log if it ends before. */
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
