import { ruleCalls } from '../../api/account.ts';
import { live } from '../../live.ts';
import { may } from '../../session.ts';
import { Link } from '../../ui/link.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { ModeSwitch } from '../rules/modeSwitch.tsx';
import { type Mode, scopeText } from '../rules/texts.ts';

export function InForce() {
  const guard = live.value?.guard;
  if (guard === undefined) return <section class="in-force" />;
  const { rule } = guard;
  if (rule === undefined)
    return (
      <section class="in-force">
        <p>
          <span class="look">! No rule is in force:</span> every query passes unless it is denied.
        </p>
        {may('dns_protection:write') && (
          <p>
            <Link to="/rules/new">Create a rule</Link>
          </p>
        )}
      </section>
    );
  // The id is the key, so that data of the previous rule is neither shown nor changed when another rule is in force.
  return <RuleInForce key={rule.id} id={rule.id} mode={rule.mode as Mode} />;
}

function RuleInForce({ id, mode }: { readonly id: string; readonly mode: Mode }) {
  const { value: tagged } = useLoaded(() => ruleCalls.read(id), [id, ruleCalls.version.value]);
  const rule = tagged?.item;
  return (
    <section class="in-force">
      <p>
        <span class="quiet">Rule in force: </span>
        <Link to={`/rules/${id}`} text={rule === undefined ? id.slice(0, 8) : scopeText(rule)} />
      </p>
      <ModeSwitch id={id} tagged={tagged} mode={mode} />
      <p class="quiet caption">
        {rule
          ? `profile ${rule.profile_sensitivity.replace('_', ' ')} · rate ${rule.rate_sensitivity} · burst ${rule.burst_sensitivity}`
          : '\u00a0'}
      </p>
    </section>
  );
}
