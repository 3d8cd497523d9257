import { expect, it } from 'vitest';
import type { WebSocketConnection } from '../../../../platform/http/index.ts';
import { FilterMemory } from '../../http/limits/filterMemory.ts';
import { Quota } from '../../http/limits/quota.ts';
import type { CallContext } from '../../method.ts';
import type { Sink } from '../live/sink.ts';
import { SUBSCRIBE, type SubscriptionServices, Subscriptions } from './subscriptions.ts';

const MIB = 1024 * 1024;

function subscriptionsWith() {
  const sinks: Sink[] = [];
  const [pushed, closed]: [string[], string[]] = [[], []];
  const connection = {
    push: (message: string) => void pushed.push(message),
    close: (reason: string) => void closed.push(reason),
  } as unknown as WebSocketConnection; // only the members that Subscriptions uses
  const begin = (sink: Sink) => {
    sinks.push(sink);
    return { end: () => undefined };
  };
  const services = {
    live: { read: () => ({ bytes: 256, begin }) },
    isOffered: true,
    entries: {},
    quota: new Quota({ what: 'subscriptions', remedy: '' }, { total: 10, perClient: 10 }),
    memory: new FilterMemory(),
    client: { address: '192.0.2.1' },
  } as unknown as SubscriptionServices; // only the members that Subscriptions uses
  const { methods } = new Subscriptions(connection, services);
  /** Subscribes. Returns the sink, and a function that sends the response. */
  const subscribe = async () => {
    let answered = (): void => undefined;
    const afterAnswer = (then: () => void): void => {
      answered = then;
    };
    await methods.get(SUBSCRIBE)?.method.handle([], { afterAnswer } as unknown as CallContext); // only this member is used
    const sink = sinks.at(-1);
    if (sink === undefined) throw new Error('not subscribed');
    return { sink, answered: () => answered() };
  };
  return { subscribe, pushed, closed };
}

it('sends notifications after the response with the subscription id, in order', async () => {
  const { subscribe, pushed, closed } = subscriptionsWith();
  const { sink, answered } = await subscribe();
  for (const text of ['1', '2']) sink.push(text);
  expect(pushed).toEqual([]);
  answered();
  sink.push('3');
  expect(pushed.map((message) => JSON.parse(message).params.result)).toEqual([1, 2, 3]);
  expect(closed).toEqual([]);
});

it('closes a connection whose held notifications exceed 4 MiB, while their responses are delayed', async () => {
  const { subscribe, pushed, closed } = subscriptionsWith();
  const [one, other] = [await subscribe(), await subscribe()];
  const text = JSON.stringify('x'.repeat(MIB));
  for (let i = 0; i < 3; i++) one.sink.push(text);
  one.answered();
  expect(pushed).toHaveLength(3);
  for (let i = 0; i < 3; i++) other.sink.push(text);
  expect(closed).toEqual([]);
  other.sink.push(text);
  expect(closed).toEqual(['slow']);
});
