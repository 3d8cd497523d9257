import type { IncomingMessage } from 'node:http';
import { type AccessLogFormat, FORMATS } from './formats.ts';
import type { LineFile } from './lineFile.ts';
import { shownReferer, shownUrl } from './shownUrl.ts';

/** What is to be known of a response. */
export interface LoggedResponse {
  readonly req: IncomingMessage;
  readonly statusCode: number;
  readonly headersSent: boolean;
  /** Bytes of its body, as far as `countBody` was called before they were written. */
  readonly bodyBytes: number;
  countBody(): void;
  whenOver(then: () => void): void;
}

export interface AccessLogOptions {
  readonly format: AccessLogFormat;
  /** Parts of paths that are never hidden, however long: the names of networks. */
  readonly knownNames: ReadonlySet<string>;
}

export interface AccessLogDependencies {
  readonly file: Pick<LineFile, 'write'>;
  readonly clientAddress: (request: IncomingMessage) => string;
}

/** The client was gone before it had a status: what nginx says, too. */
const CLIENT_GONE = 499;
const SWITCHING_PROTOCOLS = 101;

/** Writes a line for each request once its answer is over. */
export class AccessLog {
  readonly #options: AccessLogOptions;
  readonly #dependencies: AccessLogDependencies;

  constructor(options: AccessLogOptions, dependencies: AccessLogDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** For a listener: this is about to be answered. */
  handled(response: LoggedResponse): void {
    const { format, knownNames } = this.#options;
    const { file, clientAddress } = this.#dependencies;
    const { req: request } = response;
    const atMs = Date.now();
    const startMs = performance.now();
    // Its socket may have no address any more when it is over.
    const client = clientAddress(request);
    response.countBody();
    response.whenOver(() => {
      const { statusCode, headersSent, bodyBytes } = response;
      const { method = '', url = '', httpVersion, headers } = request;
      const line = FORMATS[format]({
        client,
        atMs,
        method,
        url: shownUrl(url, knownNames),
        httpVersion,
        status: headersSent || statusCode === SWITCHING_PROTOCOLS ? statusCode : CLIENT_GONE,
        bytes: bodyBytes,
        durationMs: performance.now() - startMs,
        referer: shownReferer(headers.referer),
        userAgent: headers['user-agent'],
      });
      file.write(line);
    });
  }
}
