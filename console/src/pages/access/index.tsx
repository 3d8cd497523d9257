import './access.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type ApiToken, type GatewayKey, listKeys, listTokens } from '../../api/access.ts';
import type { Failure } from '../../api/failure.ts';
import { gateway } from '../../api/gateway.ts';
import { may, session } from '../../session.ts';
import { KeySection } from './keySection.tsx';
import { SessionSection } from './sessionSection.tsx';
import { accessHeadline } from './texts.ts';
import { TokenSection } from './tokenSection.tsx';

/** Start of the id that the server returns for a token from its configuration. */
const CONFIGURED = 'configured:';

export function Access() {
  const tokens = useSignal<readonly ApiToken[] | undefined>(undefined);
  const keys = useSignal<readonly GatewayKey[] | undefined>(undefined);
  const failures = useSignal<{ readonly tokens?: Failure; readonly keys?: Failure }>({});
  const seesKeys = may('keys:read') && (gateway.value?.networks.length ?? 0) > 0;
  const readTokens = async () => {
    const answer = await listTokens();
    if ('value' in answer) tokens.value = answer.value;
    else failures.value = { ...failures.value, tokens: answer.failure };
  };
  const readKeys = async () => {
    const answer = await listKeys();
    if ('value' in answer) keys.value = answer.value;
    else failures.value = { ...failures.value, keys: answer.failure };
  };
  useEffect(() => {
    if (may('tokens:read')) void readTokens();
  }, []);
  useEffect(() => {
    if (seesKeys) void readKeys();
  }, [seesKeys]);
  return (
    <div class="page access">
      <h1>
        {accessHeadline(
          {
            hasServersToken: session.value?.tokenId.startsWith(CONFIGURED) ?? false,
            tokens: tokens.value,
            keys: seesKeys ? keys.value : undefined,
          },
          Date.now(),
        )}
      </h1>
      {may('tokens:read') && (
        <TokenSection
          tokens={tokens.value}
          failure={failures.value.tokens}
          changed={() => void readTokens()}
        />
      )}
      {may('tokens:read') && <SessionSection />}
      {seesKeys && (
        <KeySection
          keys={keys.value}
          failure={failures.value.keys}
          isFirst={keys.value?.length === 0}
          changed={() => void readKeys()}
        />
      )}
    </div>
  );
}
