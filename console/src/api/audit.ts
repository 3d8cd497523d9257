import { account } from '../session.ts';
import { type ApiResponse, call, pathOf } from './client.ts';
import type { Outcome } from './failure.ts';
import type { Schemas } from './types.ts';

/** A change of a rule, list entry, zone policy, token or API key, or a request to forget a zone. */
export type Change = Schemas['AuditAnswer']['result'][number];

export interface AuditQuery {
  readonly rule_id?: string;
  readonly since?: string | undefined;
  readonly cursor?: string | undefined;
  readonly per_page?: number;
}

export const readAudit = (query: AuditQuery): Promise<Outcome<ApiResponse<readonly Change[]>>> =>
  call({
    path: pathOf`/accounts/${account.value}/network/advanced_dns_protection/configs/dns_protection/audit`,
    query: { ...query },
  });
