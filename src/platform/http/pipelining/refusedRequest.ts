import { type IncomingMessage, STATUS_CODES } from 'node:http';

/** An answer that refuses a request. */
export interface RefusalAnswer {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Refuses a request by its body; undefined, and nothing counted, where it is to be looked at as any other. */
export type RefuseBody = (body: Buffer) => RefusalAnswer | undefined;

/** What is to be known of the request that was refused. */
export interface RefusedMessage {
  readonly request: IncomingMessage;
  /** The request, all of it and nothing else. */
  readonly bytes: Buffer;
  readonly refuse: RefuseBody;
  /** What its client is told of how long its connection may idle. */
  readonly keepAliveTimeoutMs: number;
}

export interface Refused {
  readonly status: number;
  readonly answer: string;
  /** So many bytes were the request. */
  readonly requestBytes: number;
}

/** A larger request is parsed: its like is no flood of many. */
const MAX_MESSAGE_BYTES = 4 * 1024;
const HEAD_END = '\r\n\r\n';
const CONTENT_LENGTH = /\r\ncontent-length: *(\d{1,9})\r\n/i;

/** How many bytes the request takes that begins here, as far as its head tells; undefined where it is not whole, or not small. */
export function messageBytes(bytes: Buffer): number | undefined {
  // No further than a small one reaches: a large head would be looked through again with each slice.
  const end = bytes.subarray(0, MAX_MESSAGE_BYTES).indexOf(HEAD_END);
  if (end === -1) return undefined;
  const bodyBytes = CONTENT_LENGTH.exec(bytes.toString('latin1', 0, end + 2))?.[1] ?? 0;
  const whole = end + HEAD_END.length + Number(bodyBytes);
  return whole > bytes.length || whole > MAX_MESSAGE_BYTES ? undefined : whole;
}

/**
 * A request that was refused. One that comes behind it, with the same head byte for byte, was meant for the same place by the
 * same client: where its body is refused too, it needs no parser, and none of the objects that a request is for node.
 */
export class RefusedRequest {
  readonly #head: Buffer;
  readonly #bytes: number;
  readonly #refuse: RefuseBody;
  readonly #end: string;

  private constructor(head: Buffer, { bytes, refuse, keepAliveTimeoutMs }: RefusedMessage) {
    this.#head = head;
    this.#bytes = bytes.length;
    this.#refuse = refuse;
    this.#end = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1_000)}${HEAD_END}`;
  }

  /** Undefined where it is not sure that a request with these bytes begins and ends as this one did. */
  static of(message: RefusedMessage): RefusedRequest | undefined {
    const { request, bytes } = message;
    const { headers, rawHeaders } = request;
    const length = Number(headers['content-length']);
    if (!(length > 0) || headers['transfer-encoding'] !== undefined) return undefined;
    if (headers.expect !== undefined || headers.upgrade !== undefined) return undefined;
    const headBytes = bytes.length - length;
    if (headBytes <= 0 || bytes.indexOf(HEAD_END) + HEAD_END.length !== headBytes) return undefined;
    // Were these bytes only the end of a head that had begun before them, it would have more fields than they have lines.
    const lines = bytes.toString('latin1', 0, headBytes - HEAD_END.length).split('\r\n');
    if (lines.length !== 1 + rawHeaders.length / 2) return undefined;
    if (lines[0] !== `${request.method} ${request.url} HTTP/${request.httpVersion}`) return undefined;
    return new RefusedRequest(Buffer.from(bytes.subarray(0, headBytes)), message);
  }

  /** Refuses the request that begins here, if it is like this one; undefined where it is to be parsed. */
  refuse(bytes: Buffer): Refused | undefined {
    const head = this.#head;
    const requestBytes = this.#bytes;
    if (bytes.length < requestBytes || head.compare(bytes, 0, head.length) !== 0) return undefined;
    const refusal = this.#refuse(bytes.subarray(head.length, requestBytes));
    if (refusal === undefined) return undefined;
    const { status, headers, body } = refusal;
    let answer = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
    for (let i = 0; i < headers.length; i += 2) answer += `${headers[i]}: ${headers[i + 1]}\r\n`;
    answer += `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
    return { status, requestBytes, answer: `${answer}Date: ${httpDate()}\r\n${this.#end}${body}` };
  }
}

let dateSecond = 0;
let date = '';

/** Now, as the Date of an answer tells it. */
function httpDate(): string {
  const nowMs = Date.now();
  const second = Math.floor(nowMs / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(nowMs).toUTCString();
  }
  return date;
}
