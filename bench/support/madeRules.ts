/** Rules for benchmarks, and the token with which the server is started. */
export const RULES_TOKEN = 'fg_benchmark_token_0000000000000000000000000';
export const RULES_PATH =
  '/client/v4/accounts/bench/network/advanced_dns_protection/configs/dns_protection/rules';
export const RULES_HEADERS = { authorization: `Bearer ${RULES_TOKEN}` };

/** Creates `count` rules on an empty server, and returns their ids. */
export async function createRules(url: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    const response = await fetch(url + RULES_PATH, {
      method: 'POST',
      headers: RULES_HEADERS,
      body: JSON.stringify({
        scope: 'datacenter',
        name: `dc${index}`,
        mode: 'enabled',
        profile_sensitivity: 'low',
        rate_sensitivity: 'medium',
        burst_sensitivity: 'medium',
      }),
    });
    const { result } = (await response.json()) as { result: { id: string } };
    ids.push(result.id);
  }
  return ids;
}
