import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { messageBytes, type RefuseBody, RefusedRequest } from './refusedRequest.ts';
import type { Resting, Stepping, Turns } from './turns.ts';

/** What is to be known of a response. */
export interface OrderedResponse {
  readonly req: IncomingMessage;
  readonly statusCode: number;
  /** Whether its connection stays open. */
  readonly shouldKeepAlive: boolean;
  /** Where it refused its request for what its body says: refuses what comes behind it with the same head. */
  readonly refusesAlike: RefuseBody | undefined;
}

/** Where the responses of one connection come to know that their turn has come, and say that it is over. */
export interface RequestOrder<Response extends OrderedResponse> {
  /** Its request was parsed. */
  arrived(response: Response): void;
  /** Its last byte is taken. */
  over(response: Response): void;
  /** What comes next cannot be read. Calls back once, when the requests that came whole before it are answered. */
  unreadable(close: () => void): void;
  /** The connection is. */
  closed(): void;
  /** The connection leaves HTTP. Returns what came behind its last request; undefined where requests before that are not answered. */
  upgraded(): Buffer | undefined;
}

export interface PipelineDependencies<Response extends OrderedResponse> {
  readonly turns: Turns;
  /** Has a request answered. */
  readonly handle: (response: Response) => void;
  /** Hears of the status of each answer that no response was made for. Undefined: each request is to be handled. */
  readonly refused: ((status: number) => void) | undefined;
  readonly keepAliveTimeoutMs: () => number;
}

/** The parser is given so much at a time: no more than a few requests, whose objects have to be kept until they are answered. */
const HEAD_SLICE_BYTES = 512;
/** The same within a body: what stands behind it may be requests. */
const BODY_SLICE_BYTES = 4 * 1024;
/** A step refuses so many requests alike at most. */
const MAX_ALIKE = 16;
/** A connection that had so many refused, and nothing else between them, rests before it is read again: it may be a flood's. */
const REFUSED_BEFORE_REST = 16;
/** From here on a status is a refusal. */
const FIRST_ERROR_STATUS = 400;

/**
 * The requests of one connection, one after the other: what a client has sent ahead waits as bytes until the answers before it
 * are taken. A connection that sends ahead, or whose last request was refused, yields: its bytes are read when others have had
 * their turn, and some milliseconds later where nothing but refusals went before. Of any other connection node:http reads by
 * itself, which costs nothing here.
 */
export class Pipeline<Response extends OrderedResponse> implements RequestOrder<Response>, Stepping, Resting {
  readonly #socket: Socket;
  readonly #turns: Turns;
  readonly #handle: (response: Response) => void;
  readonly #dependencies: PipelineDependencies<Response>;
  #active: Response | undefined;
  /** The last that came, whose body the parser may be in. */
  #latest: Response | undefined;
  #yields = false;
  /** Refused one after the other, up to the last. */
  #refusedInRow = 0;
  #isParsing = false;
  #isTaking = false;
  /** Were parsed together with the one before them. */
  readonly #waiting: Response[] = [];
  readonly #unparsed: Buffer[] = [];
  /** What the parser was given last, where that was one request as a whole. */
  #message: Buffer | undefined;
  /** The last request was refused, and the parser, which stands at its end, was given nothing since. */
  #refused: RefusedRequest | undefined;
  /** What node:http listens to its bytes and their end with; undefined while it reads them by itself. */
  #parse: Listener | undefined;
  #end: Listener | undefined;
  #isEnded = false;
  #isUpgraded = false;
  /** Set where what comes next cannot be read: closes the connection. */
  #close: (() => void) | undefined;

  constructor(socket: Socket, dependencies: PipelineDependencies<Response>) {
    this.#socket = socket;
    this.#dependencies = dependencies;
    this.#turns = dependencies.turns;
    this.#handle = dependencies.handle;
  }

  arrived(response: Response): void {
    this.#latest = response;
    if (this.#isParsing || this.#active !== undefined || this.#waiting.length > 0) {
      this.#waiting.push(response);
      this.#takeBytes();
      if (!this.#isParsing) this.#turns.add(this);
      return;
    }
    this.#active = response;
    this.#handle(response);
  }

  over(response: Response): void {
    if (response !== this.#active) return;
    this.#active = undefined;
    this.#yields = response.statusCode >= FIRST_ERROR_STATUS;
    this.#refusedInRow = this.#yields ? this.#refusedInRow + 1 : 0;
    if (this.#yields) this.#takeBytes();
    if (response.refusesAlike !== undefined) this.#refused = this.#refusedBy(response, response.refusesAlike);
    if (this.#parse !== undefined || this.#waiting.length > 0) this.#turns.add(this);
    this.#closeWhereAnswered();
  }

  unreadable(close: () => void): void {
    if (this.#close !== undefined) return;
    this.#close = close;
    this.#unparsed.length = 0;
    // The rest of that one never comes.
    if (this.#latest?.req.complete === false) {
      if (this.#active === this.#latest) this.#active = undefined;
      else this.#waiting.pop();
    }
    // What else comes is dropped, and its end is seen.
    if (this.#parse === undefined) this.#takeBytes();
    else this.#socket.resume();
    this.#closeWhereAnswered();
  }

  #closeWhereAnswered(): void {
    if (this.#active === undefined && this.#waiting.length === 0) this.#close?.();
  }

  closed(): void {
    this.#active = undefined;
    this.#waiting.length = 0;
    this.#unparsed.length = 0;
    this.#refused = undefined;
    this.#turns.delete(this);
  }

  upgraded(): Buffer | undefined {
    const isAnswered = this.#active === undefined && this.#waiting.length === 0;
    const unparsed = Buffer.concat(this.#unparsed);
    this.#isUpgraded = true;
    this.#socket.off('data', this.#read).off('end', this.#ended);
    this.closed();
    return isAnswered ? unparsed : undefined;
  }

  /** Parses a few requests, or has one of them answered. */
  step(): void {
    if (this.#socket.destroyed) return this.closed();
    if (!this.#refuseAlike() && this.#mayParse && this.#unparsed.length > 0) this.#parseSlice();
    if (this.#isUpgraded) return;
    if (this.#active === undefined) this.#handleNext();
    if (!this.#mayParse || this.#parse === undefined) return;
    if (this.#unparsed.length > 0) this.#turns.add(this);
    else if (this.#isEnded) this.#endWhenAnswered();
    else if (this.#refusedInRow >= REFUSED_BEFORE_REST) this.#rest();
    else this.goOn();
  }

  #rest(): void {
    this.#socket.pause();
    this.#turns.rest(this);
  }

  /** Has its bytes read: all that has come meanwhile as one, else what comes next. */
  goOn(): void {
    if (this.#socket.destroyed || this.#isUpgraded) return;
    if (this.#socket.read() === null) this.#socket.resume();
  }

  /** The client has sent its last byte: node:http, which then closes, is told so behind the last answer. */
  #endWhenAnswered(): void {
    if (this.#active === undefined) this.#end?.();
  }

  #handleNext(): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#active = next;
    this.#handle(next);
  }

  /** Nothing waits for an answer, but what has still to come as a whole. */
  get #mayParse(): boolean {
    return this.#waiting.length === 0 && this.#active?.req.complete !== true;
  }

  #parseSlice(): void {
    const [first] = this.#unparsed;
    if (first === undefined) return;
    const isInBody = this.#latest?.req.complete === false;
    const message = this.#yields && !isInBody ? messageBytes(first) : undefined;
    const slice = this.#take(first, message ?? (isInBody ? BODY_SLICE_BYTES : HEAD_SLICE_BYTES));
    this.#refused = undefined;
    this.#message = message === undefined ? undefined : slice;
    this.#isParsing = true;
    this.#parse?.(slice);
    this.#isParsing = false;
  }

  /** Takes so many bytes off what is not parsed. */
  #take(first: Buffer, bytes: number): Buffer {
    if (first.length > bytes) this.#unparsed[0] = first.subarray(bytes);
    else this.#unparsed.shift();
    return first.subarray(0, bytes);
  }

  #refusedBy(response: Response, refuse: RefuseBody): RefusedRequest | undefined {
    const bytes = this.#message;
    if (this.#dependencies.refused === undefined) return undefined;
    if (bytes === undefined || this.#latest !== response || !response.shouldKeepAlive) return undefined;
    const { req: request } = response;
    const keepAliveTimeoutMs = this.#dependencies.keepAliveTimeoutMs();
    return RefusedRequest.of({ request, bytes, refuse, keepAliveTimeoutMs });
  }

  /** Refuses what is like the request that was refused last. Returns whether anything was. */
  #refuseAlike(): boolean {
    const refused = this.#refused;
    // Answers that are not taken are counted where a response holds them.
    if (refused === undefined || this.#socket.writableLength > 0) return false;
    let answers = '';
    for (let i = 0; i < MAX_ALIKE; i++) {
      const [first] = this.#unparsed;
      const alike = first && refused.refuse(first);
      if (first === undefined || alike === undefined) break;
      this.#take(first, alike.requestBytes);
      this.#dependencies.refused?.(alike.status);
      this.#refusedInRow++;
      answers += alike.answer;
    }
    if (answers === '') return false;
    this.#socket.write(answers);
    return true;
  }

  /**
   * Has the bytes come here, and from here to node:http: its server gives them up to whoever listens for them. It lets go of a connection as it
   * is: one that it has stopped, for an answer that waits for its client or a body that is not read, would stay so, even where it is about to
   * be read again. So they are taken as it begins to be.
   */
  #takeBytes(): void {
    if (this.#parse !== undefined || this.#isTaking) return;
    this.#isTaking = true;
    // Where it is to go on it is told so by then.
    process.nextTick(() => {
      if (this.#isUpgraded) return;
      this.#socket.once('resume', this.#takeBytesWhereRead);
      if (!this.#socket.isPaused()) this.#socket.pause().resume();
    });
  }

  readonly #takeBytesWhereRead = (): void => {
    if (this.#socket.destroyed || this.#isUpgraded) return;
    if (this.#socket.isPaused()) {
      this.#socket.once('resume', this.#takeBytesWhereRead);
      return;
    }
    this.#parse = takeListeners(this.#socket, 'data');
    this.#end = takeListeners(this.#socket, 'end');
    this.#socket.on('data', this.#read);
    this.#socket.on('end', this.#ended);
  };

  readonly #ended = (): void => {
    this.#isEnded = true;
    this.#turns.add(this);
  };

  readonly #read = (bytes: Buffer): void => {
    if (this.#close !== undefined) return;
    this.#unparsed.push(bytes);
    if (!this.#yields && bytes.length <= HEAD_SLICE_BYTES && this.#unparsed.length === 1 && this.#mayParse)
      return this.step();
    this.#socket.pause();
    this.#turns.add(this);
  };
}

type Listener = (...args: unknown[]) => void;

/** Takes away whoever listens for an event, and returns what calls them. */
function takeListeners(socket: Socket, event: string): Listener {
  const listeners = socket.listeners(event) as Listener[]; // node types them as functions
  socket.removeAllListeners(event);
  return (...args) => {
    for (const listener of listeners) listener.apply(socket, args);
  };
}
