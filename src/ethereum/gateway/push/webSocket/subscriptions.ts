import { randomBytes } from 'node:crypto';
import { type BudgetClient, clientName } from '../../../../platform/budgets/index.ts';
import type { WebSocketConnection } from '../../../../platform/http/index.ts';
import { RpcError } from '../../../jsonrpc/index.ts';
import type { Entry } from '../../http/callsHandler.ts';
import type { FilterMemory } from '../../http/limits/filterMemory.ts';
import { type Quota, takeAll } from '../../http/limits/quota.ts';
import type { ApiKey } from '../../keys/keyStore.ts';
import type { Handler } from '../../method.ts';
import type { GatewayMetrics } from '../../metrics.ts';
import type { Live } from '../live/live.ts';

export const SUBSCRIBE = 'eth_subscribe';
const UNSUBSCRIBE = 'eth_unsubscribe';

export type SubscriptionEntries = Readonly<Record<'subscribe' | 'unsubscribe', Entry['observe']>>;

export const subscriptionEntries = (network: string, metrics: GatewayMetrics): SubscriptionEntries => ({
  subscribe: metrics.observer(network, SUBSCRIBE),
  unsubscribe: metrics.observer(network, UNSUBSCRIBE),
});

export interface SubscriptionServices {
  readonly live: Live;
  /** False if the gateway is configured without eth_subscribe (`gateway.methods`). */
  readonly isOffered: boolean;
  readonly entries: SubscriptionEntries;
  readonly quota: Quota;
  readonly memory: FilterMemory;
  readonly client: BudgetClient;
}

const ID_BYTES = 16;
/** Maximum characters of held notifications of a connection. The limit of sent ones has the same size. */
const MAX_HELD_LENGTH = 4 * 1024 * 1024;

export class Subscriptions {
  /** The methods that exist only on WebSocket connections: eth_subscribe and eth_unsubscribe. */
  readonly methods: ReadonlyMap<string, Entry>;
  readonly #connection: WebSocketConnection;
  readonly #services: SubscriptionServices;
  readonly #open = new Map<string, () => void>();
  /** Characters of notifications that wait for the responses with their subscription ids. */
  #heldLength = 0;
  #isClosed = false;

  constructor(connection: WebSocketConnection, services: SubscriptionServices) {
    const { entries, isOffered } = services;
    this.#connection = connection;
    this.#services = services;
    // With `changesState`, the response, which contains the subscription id, is never rejected for lack of memory.
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

  /** Returns true if this API key still permits eth_subscribe, or if there is no subscription. */
  areAllowed(key: Pick<ApiKey, 'methods'> | undefined): boolean {
    return this.#open.size === 0 || key?.methods === undefined || key.methods.includes(SUBSCRIBE);
  }

  endAll(): void {
    this.#isClosed = true;
    for (const end of this.#open.values()) end();
    this.#open.clear();
  }

  readonly #subscribe: Handler = async (params, { afterAnswer }) => {
    const { live, client, quota, memory } = this.#services;
    const wanted = live.read(params);
    const release = takeAll(client, [
      [quota, 1],
      [memory, wanted.bytes],
    ]);
    const id = `0x${randomBytes(ID_BYTES).toString('hex')}`;
    const answer = Buffer.from(`"${id}"`);
    if (this.#isClosed) {
      release();
      return answer;
    }
    const start = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":`;
    // Until the response with the subscription id is sent, notifications are held back.
    let held: string[] | undefined = [];
    const { ready, end } = wanted.begin({
      client: clientName(client),
      push: (result) => {
        const message = `${start}${result}}}`;
        if (held === undefined) return this.#connection.push(message);
        // A client can delay the response with other calls of the same batch.
        if (this.#heldLength + message.length > MAX_HELD_LENGTH) return this.#connection.close('slow');
        this.#heldLength += message.length;
        held.push(message);
      },
      missed: () => this.#connection.close('missed_blocks'),
    });
    this.#open.set(id, () => {
      end();
      release();
    });
    this.#connection.hasSubscriptions = true;
    afterAnswer?.(() => {
      for (const message of held ?? []) {
        this.#heldLength -= message.length;
        this.#connection.push(message);
      }
      held = undefined;
    });
    await ready;
    return answer;
  };

  readonly #unsubscribe: Handler = (params) => {
    const [id, ...more] = params;
    if (typeof id !== 'string' || more.length > 0)
      throw new RpcError('invalidParams', `${UNSUBSCRIBE} takes one parameter, the id of a subscription`);
    const end = this.#open.get(id);
    this.#open.delete(id);
    end?.();
    this.#connection.hasSubscriptions = this.#open.size > 0;
    return Buffer.from(String(end !== undefined));
  };
}
