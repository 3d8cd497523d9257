import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type {
  CloseReason,
  MessageHandler,
  MessageSpace,
  WebSocketConnection,
} from '../../../platform/http/index.ts';
import { type HttpAnswer, handleBody } from '../../jsonrpc/index.ts';
import type { AdmissionControl, Permit, Refusal } from '../admissionControl.ts';
import { CallsHandler, type CallsHandlerDependencies, type MethodTable } from '../callsHandler.ts';
import { joined } from '../respond.ts';
import { type SubscriptionServices, Subscriptions } from './subscriptions.ts';

export interface SessionOptions {
  /** That the connection began with. */
  readonly request: IncomingMessage;
  /** Behind the question mark of its URL. */
  readonly query: string;
  readonly maxAnswerBytes: number;
}

export interface SessionDependencies extends CallsHandlerDependencies {
  readonly admission: AdmissionControl;
  readonly connection: WebSocketConnection;
  readonly methods: MethodTable;
  readonly subscriptions: SubscriptionServices;
}

/** The calls of one WebSocket: each message is what the body of a POST is, admitted by itself, and its answer is one message. */
export class Session implements MessageHandler {
  readonly #options: SessionOptions;
  readonly #dependencies: SessionDependencies;
  readonly #subscriptions: Subscriptions;
  readonly #methods: MethodTable;

  constructor(options: SessionOptions, dependencies: SessionDependencies) {
    const { connection, subscriptions, methods } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#subscriptions = new Subscriptions(connection, subscriptions);
    const own = this.#subscriptions.methods;
    this.#methods = { get: (name) => own.get(name) ?? methods.get(name) };
  }

  message(bytes: Buffer): Promise<void> | void {
    const { admission, connection, tracer } = this.#dependencies;
    const { request, query, maxAnswerBytes } = this.#options;
    const entered = admission.enter(request, query);
    const permit = 'refusal' in entered ? noPermit(entered) : entered;
    const space = connection.space();
    const then: (() => void)[] = [];
    const message = { afterAnswer: (next: () => void) => void then.push(next) };
    const span = tracer?.begin({ name: 'WebSocket message', kind: 'server' });
    const handler = new CallsHandler(
      maxAnswerBytes,
      { methods: this.#methods, permit, space, faults: { faultId: randomUUID }, message, span },
      this.#dependencies,
    );
    const send = (answer: HttpAnswer): Promise<void> | void => {
      const sent = this.#send(answer, space);
      span?.end();
      for (const next of then) next();
      if ('refusal' in entered && entered.status === 401) connection.close('unauthorized');
      if (sent === undefined) permit.release();
      return sent?.then(() => permit.release());
    };
    const answer = handleBody(bytes, handler);
    return answer instanceof Promise ? answer.then(send) : send(answer);
  }

  refusal(): CloseReason | undefined {
    const { request, query } = this.#options;
    return this.#dependencies.admission.isDenied(request, query) ? 'unauthorized' : undefined;
  }

  closed(): void {
    this.#subscriptions.endAll();
  }

  /** Undefined where there is nothing to send. */
  #send({ parts, release }: HttpAnswer, space: MessageSpace): Promise<void> | undefined {
    const message = parts.length === 0 || space.isOver ? undefined : joined(parts);
    release?.();
    if (message !== undefined) return this.#dependencies.connection.answer(message, space);
    space.over();
    return undefined;
  }
}

/** Refuses each call of a message. */
const noPermit = ({ refusal }: Refusal): Permit => ({
  admit() {
    throw refusal;
  },
  mayCall: () => true,
  client: () => '',
  address: () => '',
  keyId: undefined,
  release: () => undefined,
});
