import { randomBytes } from 'node:crypto';
import type { WebSocketConnection } from '../../../platform/http/index.ts';
import { RpcError } from '../../jsonrpc/index.ts';
import type { Entry } from '../callsHandler.ts';
import type { Live } from '../live/live.ts';
import type { Handler } from '../method.ts';
import type { GatewayMetrics } from '../metrics.ts';
import type { Holder, Quotas } from '../quotas.ts';

export const SUBSCRIBE = 'eth_subscribe';
const UNSUBSCRIBE = 'eth_unsubscribe';

/** How calls of the two methods are counted, in one network. */
export type SubscriptionEntries = Readonly<Record<'subscribe' | 'unsubscribe', Entry['observe']>>;

export const subscriptionEntries = (network: string, metrics: GatewayMetrics): SubscriptionEntries => ({
  subscribe: metrics.observer(network, SUBSCRIBE),
  unsubscribe: metrics.observer(network, UNSUBSCRIBE),
});

export interface SubscriptionServices {
  readonly live: Live;
  /** Whether there are subscriptions; `gateway.methods` may leave them out. */
  readonly isOffered: boolean;
  readonly entries: SubscriptionEntries;
  readonly quotas: Quotas;
  readonly holder: Holder;
  readonly metrics: GatewayMetrics;
}

const ID_BYTES = 16;

/** The subscriptions of one connection. */
export class Subscriptions {
  /** The methods that are there over a WebSocket alone. */
  readonly methods: ReadonlyMap<string, Entry>;
  readonly #connection: WebSocketConnection;
  readonly #services: SubscriptionServices;
  readonly #open = new Map<string, () => void>();

  constructor(connection: WebSocketConnection, services: SubscriptionServices) {
    const { entries, isOffered } = services;
    this.#connection = connection;
    this.#services = services;
    // What it has begun its client must be told of: its answer is not to be refused for want of room.
    const subscribe = { name: SUBSCRIBE, changesState: true, handle: this.#subscribe };
    const unsubscribe = {
      name: UNSUBSCRIBE,
      changesState: true,
      isForEveryKey: true,
      handle: this.#unsubscribe,
    };
    this.methods = new Map(
      isOffered
        ? [
            [SUBSCRIBE, { method: subscribe, observe: entries.subscribe }],
            [UNSUBSCRIBE, { method: unsubscribe, observe: entries.unsubscribe }],
          ]
        : [],
    );
  }

  endAll(): void {
    for (const end of this.#open.values()) end();
    this.#open.clear();
  }

  readonly #subscribe: Handler = (params, { afterAnswer }) => {
    const { live } = this.#services;
    const id = `0x${randomBytes(ID_BYTES).toString('hex')}`;
    const start = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":`;
    // The first of it comes behind the answer that tells its id.
    let held: string[] | undefined = [];
    const { begun, end } = live.subscribe(params, {
      push: (result) => {
        const message = `${start}${result}}}`;
        if (held === undefined) this.#connection.push(message);
        else held.push(message);
      },
      missed: () => this.#connection.close('missed_blocks'),
    });
    try {
      const giveBack = this.#take();
      this.#open.set(id, () => {
        end();
        giveBack();
      });
    } catch (error) {
      end();
      throw error;
    }
    afterAnswer?.(() => {
      for (const message of held ?? []) this.#connection.push(message);
      held = undefined;
    });
    const answer = Buffer.from(`"${id}"`);
    return begun === undefined ? answer : begun.then(() => answer);
  };

  readonly #unsubscribe: Handler = (params) => {
    const [id, ...more] = params;
    if (typeof id !== 'string' || more.length > 0)
      throw new RpcError('invalidParams', `${UNSUBSCRIBE} takes one parameter, the id of a subscription`);
    const end = this.#open.get(id);
    this.#open.delete(id);
    end?.();
    return Buffer.from(String(end !== undefined));
  };

  #take(): () => void {
    const { quotas, holder, metrics } = this.#services;
    try {
      return quotas.take(holder);
    } catch (error) {
      metrics.limited('subscriptions');
      throw error;
    }
  }
}
