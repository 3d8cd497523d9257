import './now.css';
import { connection, hasGuard } from '../live.ts';
import { account, may } from '../session.ts';
import { EmptyState } from '../ui/emptyState.tsx';
import { Banner } from './now/banner.tsx';
import { Explain } from './now/explain.tsx';
import { InForce } from './now/inForce.tsx';
import { useOnboarding } from './now/onboarding.tsx';
import { TopLimited } from './now/topLimited.tsx';
import { Traffic } from './now/traffic.tsx';
import { WhatIfs } from './now/whatIfs.tsx';

export function Now() {
  const onboarding = useOnboarding();
  if (!hasGuard.value && connection.value === 'live') return <NoGuard />;
  return (
    <div class="page now">
      <div class="now-head">
        <Banner />
        <InForce />
      </div>
      {/* Nothing below is shown until it is known whether there is a list of steps above it. */}
      {onboarding !== undefined && (
        <>
          {onboarding}
          <Traffic aside={<TopLimited />} />
          <div class="now-questions">
            <WhatIfs />
            <Explain />
          </div>
        </>
      )}
    </div>
  );
}

function NoGuard() {
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
