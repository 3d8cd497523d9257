import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { BudgetClient } from '../../../../platform/budgets/index.ts';
import {
  type MessageHandler,
  type MessageMemory,
  RejectionCounter,
  type WebSocketConnection,
} from '../../../../platform/http/index.ts';
import type { Scheduler } from '../../../../platform/scheduler/index.ts';
import { type HttpAnswer, handleBody } from '../../../jsonrpc/index.ts';
import { DEFAULT_LIMITS } from '../../callLimits.ts';
import type { AdmissionControl, Permit, Refusal, UrlKeys } from '../../http/admissionControl.ts';
import { CallsHandler, type CallsHandlerDependencies, type MethodTable } from '../../http/callsHandler.ts';
import { joined } from '../../http/respond.ts';
import type { Access } from '../../keys/authenticate.ts';
import { type SubscriptionServices, Subscriptions } from './subscriptions.ts';

export interface SessionOptions {
  readonly request: IncomingMessage;
  readonly url: UrlKeys;
  readonly maxAnswerBytes: number;
}

export interface SessionDependencies extends CallsHandlerDependencies {
  readonly admission: AdmissionControl;
  readonly connection: WebSocketConnection;
  readonly client: BudgetClient;
  readonly scheduler: Scheduler;
  readonly methods: MethodTable;
  readonly subscriptions: SubscriptionServices;
}

/** Handles a WebSocket message like the body of an HTTP request: admits it separately, and sends one message back. */
export class Session implements MessageHandler {
  readonly #options: SessionOptions;
  readonly #dependencies: SessionDependencies;
  readonly #subscriptions: Subscriptions;
  readonly #methods: MethodTable;
  readonly #rejections = new RejectionCounter();
  readonly #unwatch: () => void;

  constructor(options: SessionOptions, dependencies: SessionDependencies) {
    const { admission, connection, subscriptions, methods } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#subscriptions = new Subscriptions(connection, subscriptions);
    const own = this.#subscriptions.methods;
    this.#methods = { get: (name) => own.get(name) ?? methods.get(name) };
    const credential = admission.credentialOf(options.request, options.url);
    this.#unwatch = admission.accessWatch.add(credential, (access) => this.#check(access));
  }

  message(bytes: Buffer): Promise<void> | void {
    const { admission, connection, tracer, scheduler, client } = this.#dependencies;
    const { request, url, maxAnswerBytes } = this.#options;
    const entered = admission.enter(request, url, bytes.length);
    const permit = 'refusal' in entered ? noPermit(entered) : entered;
    const space = connection.space();
    const then: (() => void)[] = [];
    const message = { afterAnswer: (next: () => void) => void then.push(next) };
    const span = tracer?.begin({ name: 'WebSocket message', kind: 'server' });
    const handler = new CallsHandler(
      maxAnswerBytes,
      {
        methods: this.#methods,
        permit,
        space,
        turns: { scheduler, client },
        message,
        span,
        faults: { faultId: randomUUID },
      },
      this.#dependencies,
    );
    const send = (answer: HttpAnswer): Promise<void> | void => {
      const sent = this.#send(answer, space);
      span?.end();
      for (const next of then) next();
      if ('refusal' in entered && entered.status === 401) connection.close('unauthorized');
      else if (this.#rejections.limitReached) connection.close('rejected');
      this.#rejections.count(answer.status);
      if (sent === undefined) permit.release();
      return sent?.then(() => permit.release());
    };
    const answer = handleBody(bytes, handler);
    return answer instanceof Promise ? answer.then(send) : send(answer);
  }

  closed(): void {
    this.#unwatch();
    this.#subscriptions.endAll();
  }

  /** Closes the connection if the client may no longer use the gateway, or has subscriptions that it may not have. */
  #check(access: Access): void {
    if (access.isGranted && this.#subscriptions.areAllowed(access.key)) return;
    this.#dependencies.connection.close('unauthorized');
  }

  /** Sends the response to a message, if there is one. Returns undefined otherwise. */
  #send({ parts, release }: HttpAnswer, space: MessageMemory): Promise<void> | undefined {
    const message = parts.length === 0 || space.isFinished ? undefined : joined(parts);
    release?.();
    if (message !== undefined) return this.#dependencies.connection.answer(message, space);
    space.finish();
    return undefined;
  }
}

/** Returns a permit that rejects every call of a message with the same error. */
const noPermit = ({ refusal }: Refusal): Permit => ({
  admit() {
    throw refusal;
  },
  isMethodAllowed: () => true,
  ended: () => undefined,
  watch: () => () => undefined,
  credential: undefined,
  address: () => '',
  keyId: undefined,
  limits: DEFAULT_LIMITS,
  start: () => undefined,
  release: () => undefined,
});
