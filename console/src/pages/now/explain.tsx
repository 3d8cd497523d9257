import { useSignal } from '@preact/signals';
import { useSearch } from 'wouter-preact';
import type { Explanation } from '../../../../src/dns/detector/index.ts';
import { readAnalytics } from '../../api/account.ts';
import { ruleInForceId } from '../../live.ts';
import { changeQuery } from '../../navigate.ts';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { SelectField, TextField } from '../../ui/form/fields.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';

const TYPES = ['A', 'AAAA', 'TXT', 'MX', 'NS', 'CNAME', 'SOA', 'SRV', 'HTTPS', 'PTR', 'ANY'];
const MAX_CHARACTERS = 1024;

export function Explain() {
  const asked = new URLSearchParams(useSearch());
  const name = useSignal(asked.get('name') ?? '');
  const type = useSignal(asked.get('type') ?? 'A');
  const submit = (event: Event) => {
    event.preventDefault();
    changeQuery({ name: name.value.trim(), type: type.value }, { replace: true });
  };
  const askedName = asked.get('name');
  return (
    <section class="explain">
      <h2>Explain a name</h2>
      <form class="row" onSubmit={submit}>
        <TextField
          label="Name"
          name="name"
          data-search
          required
          maxLength={MAX_CHARACTERS}
          text={name}
          placeholder="www.example.com"
        />
        <SelectField label="Type" name="type" chosen={type} options={TYPES.map((one) => [one, one])} />
        <button type="submit">Explain</button>
      </form>
      <div class="explained" aria-live="polite">
        {askedName !== null && <Explained name={askedName} type={asked.get('type') ?? 'A'} />}
      </div>
    </section>
  );
}

function Explained({ name, type }: { readonly name: string; readonly type: string }) {
  const id = ruleInForceId.value;
  const read = id !== undefined && (() => readAnalytics(id, { name, type }));
  const { value, failure } = useLoaded(read, [id, name, type]);
  if (id === undefined)
    return <p>→ passes unless the list of denied names contains it: no rule is in force.</p>;
  if (failure !== undefined) return <ErrorBox failure={failure} />;
  if (value?.result.explanation === undefined) return null;
  return <ExplanationText reported={value.result.explanation} />;
}

const WHY: Readonly<Record<string, string>> = {
  none: 'it does not have to pay',
  unknownName: 'it uses a token of the rate limit, because the name is not known',
  unknownType: 'it uses a token of the rate limit, because the name is known, but not with this type',
  aboveUsual: 'it uses a token of the rate limit, because the name is queried far more often than usual',
  zoneRate: 'it uses a token of its zone’s rate limit, because the zone is limited by rate',
  accessList: 'an access list contains the name, or a name above it',
};

function ExplanationText({ reported }: { readonly reported: Explanation }) {
  const zone = reported.zone === '' ? 'in no known zone' : `in the zone ${reported.zone}`;
  const extra = [
    reported.zone_attacked ? ', which is under attack' : '',
    reported.zone_judged_by_rate ? ', which is limited by its rate alone' : '',
    reported.zone_awaits_names ? ', whose names are still being read' : '',
  ].join('');
  return (
    <p>
      → <UntrustedText as="strong" text={`${reported.name} ${reported.type}`} /> {reported.verdict}:{' '}
      {WHY[reported.reason] ?? reported.reason}. It is{' '}
      {reported.known ? `known, with ${reported.known_types.join(', ')}` : 'not known'},{' '}
      <UntrustedText text={zone} />
      {extra}.
    </p>
  );
}
