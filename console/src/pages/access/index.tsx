import { listKeys, listTokens } from '../../api/server.ts';
import './access.css';
import { gateway } from '../../api/gateway.ts';
import { may, session } from '../../session.ts';
import { GatewayFailure } from '../../ui/gatewayFailure.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { KeySection } from './keySection.tsx';
import { SessionSection } from './sessionSection.tsx';
import { accessHeadline } from './texts.ts';
import { TokenSection } from './tokenSection.tsx';

/** Start of the id that the server returns for a token from its configuration. */
const CONFIGURED = 'configured:';

export function Access() {
  const seesKeys = may('keys:read') && (gateway.value?.networks.length ?? 0) > 0;
  const tokens = useLoaded(listTokens, [], { isHeld: !may('tokens:read') });
  const keys = useLoaded(listKeys, [], { isHeld: !seesKeys });
  return (
    <div class="page access">
      <h1>
        {accessHeadline(
          {
            hasServersToken: session.value?.id.startsWith(CONFIGURED) ?? false,
            tokens: tokens.value,
            keys: seesKeys ? keys.value : undefined,
          },
          Date.now(),
        )}
      </h1>
      {may('tokens:read') && <TokenSection reads={tokens} />}
      <SessionSection />
      {may('keys:read') && <GatewayFailure />}
      {seesKeys && <KeySection reads={keys} />}
    </div>
  );
}
