import './traces.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { gateway, gatewayFailure, isGatewayClosed } from '../../api/gateway.ts';
import { goTo } from '../../navigate.ts';
import { hasGatewayKey } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { GatewayFailure } from '../../ui/gatewayFailure.tsx';
import { Reading } from '../../ui/loadState.tsx';
import { AddressView } from './address/addressView.tsx';
import { BlockView } from './blockView.tsx';
import { KeyForm } from './keyForm.tsx';
import { Landing } from './landing/landing.tsx';
import { loadDecoder } from './names/names.ts';
import { NetworkChoice } from './networkChoice.tsx';
import {
  pathOfSubject,
  ShownNetwork,
  type Subject,
  subjectOf,
  useQuery,
  useSubject,
  useWantedNetwork,
  withNetwork,
} from './traceUrl.ts';
import { TransactionView } from './transaction/transactionView.tsx';

export function Traces() {
  const subject = useSubject();
  const network = useWantedNetwork();
  return (
    <div class="page traces">
      <h1 class="unseen">Traces</h1>
      <Search key={subject.id} subject={subject} network={network} />
      <KeyForm />
      {network === undefined && <NoGateway />}
      {network !== undefined && !isGatewayClosed.value && (
        <ShownNetwork.Provider value={network}>
          <Subjects key={`${network} ${subject.id} ${hasGatewayKey.value}`} subject={subject} />
        </ShownNetwork.Provider>
      )}
    </div>
  );
}

function Subjects({ subject }: { readonly subject: Subject }) {
  useEffect(() => void loadDecoder(), []);
  switch (subject.kind) {
    case 'address':
      return <AddressView address={subject.id} />;
    case 'transaction':
      return <TransactionView hash={subject.id} />;
    case 'block':
      return <BlockView block={subject.id} />;
    case 'none':
      return <Landing />;
  }
}

function Search({ subject, network }: { readonly subject: Subject; readonly network: string | undefined }) {
  const named = useQuery().get('network') ?? undefined;
  const text = useSignal(subject.id);
  const isWrong = useSignal(subject.kind === 'none' && subject.id !== '');
  const submit = (event: Event) => {
    event.preventDefault();
    const wanted = subjectOf(text.value);
    isWrong.value = wanted === undefined;
    // Before the networks are known, the URL may name one.
    if (wanted !== undefined) goTo(withNetwork(pathOfSubject(wanted), network ?? named));
  };
  return (
    <form class="trace-search" aria-label="Search" onSubmit={submit}>
      <input
        data-search
        type="search"
        name="subject"
        aria-label="Address, transaction or block"
        aria-describedby="search-hint"
        aria-invalid={isWrong.value}
        placeholder="Address, transaction, block …  ( / )"
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          isWrong.value = false;
        }}
      />
      <NetworkChoice network={network} path={pathOfSubject(subject)} />
      <button type="submit">Search</button>
      <p id="search-hint" class="harm" role="status">
        {isWrong.value &&
          '✕ Not recognised: an address is 0x and 40 hex digits, a transaction 0x and 64, a block a number.'}
      </p>
    </form>
  );
}

function NoGateway() {
  if (gatewayFailure.value) return <GatewayFailure />;
  if (gateway.value === undefined) return <Reading what="the networks" />;
  return (
    <EmptyState title="No gateway runs here" lines="floodgate start --upstream http://127.0.0.1:8545">
      The gateway answers calls from nodes and from its index of traces. Configure a node:
    </EmptyState>
  );
}
