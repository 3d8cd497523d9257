import { rulesPath } from '../../rules/support/samples.ts';
import type { Target } from '../target.ts';
import { atRate, type PoliteClient, Watch } from '../watch.ts';
import { HttpClient } from './httpClient.ts';

const RULES_PER_SECOND = 10;
const OPERATOR_PER_SECOND = 10;
const TOKENS_PER_SECOND = 4;

/** Changes a rule, and reads the change. */
export function startRulesClient(target: Target, localAddress: string): PoliteClient {
  const http = new HttpClient(target, localAddress);
  const path = `${rulesPath('polite')}/${target.politeRuleId}`;
  const { politeToken: token } = target;
  let expected = 'low';
  let isChange = false;
  return closing(
    http,
    atRate(new Watch('rules API'), RULES_PER_SECOND, async () => {
      isChange = !isChange;
      if (isChange) expected = expected === 'low' ? 'medium' : 'low';
      const body = { rate_sensitivity: expected };
      const rule = await http.operate<typeof body>(isChange ? 'PATCH' : 'GET', path, {
        token,
        ...(isChange && { body }),
      });
      if (rule.rate_sensitivity !== expected) throw new Error(`wrong rule: ${JSON.stringify(rule)}`);
    }),
  );
}

/** Reads `/readyz` and `/metrics`. */
export function startOperator(target: Target, localAddress: string): PoliteClient {
  const http = new HttpClient(target, localAddress);
  let count = 0;
  return closing(
    http,
    atRate(new Watch('operator'), OPERATOR_PER_SECOND, async () => {
      if (count++ % 2 === 0) return void (await http.send('GET', '/readyz'));
      const text = await http.send('GET', '/metrics');
      if (!text.includes('floodgate_http_connections')) throw new Error(`wrong metrics: ${text}`);
    }),
  );
}

/** Creates and revokes a token. */
export function startTokenClient(target: Target, localAddress: string): PoliteClient {
  const http = new HttpClient(target, localAddress);
  const { operatorToken: token } = target;
  const body = { label: 'polite', accounts: ['polite'], permissions: ['dns_protection:read'] };
  return closing(
    http,
    atRate(new Watch('tokens'), TOKENS_PER_SECOND, async () => {
      const { id } = await http.operate<{ id: string }>('POST', '/user/tokens', { token, body });
      await http.operate('DELETE', `/user/tokens/${id}`, { token });
    }),
  );
}

const closing = (http: HttpClient, running: PoliteClient): PoliteClient => ({
  watch: running.watch,
  stop: (limitMs) => running.stop(limitMs).finally(() => http.close()),
});
