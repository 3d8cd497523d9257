import { account, may } from '../session.ts';
import { EmptyState } from '../ui/emptyState.tsx';

/** Shown instead of a page that has only data of a guard. */
export function NoGuard() {
  return (
    <EmptyState
      isPage
      title={`No guard runs here for account ${account.value}`}
      lines={`floodgate start --dns-account ${account.value} --dns-listen 0.0.0.0:53 --dns-servers 192.0.2.53:53 --dns-zones example.com=/etc/zones/example.com`}
    >
      {may('dns_protection:write')
        ? 'You can manage its rules anyway. A guard in front of your DNS servers enforces them:'
        : 'A guard in front of the DNS servers enforces the rules:'}
    </EmptyState>
  );
}
