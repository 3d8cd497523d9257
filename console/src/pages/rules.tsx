import './rules.css';
import { useLocation } from 'wouter-preact';
import { RuleCreationForm } from './rules/creation.tsx';
import { RuleDetail } from './rules/detail.tsx';
import { RuleList } from './rules/list.tsx';

/** Page of rules: `/rules` lists them, `/rules/new` creates a rule, `/rules/ID` shows one. */
export function Rules() {
  const [location] = useLocation();
  const id = decodeURIComponent(location.split('/')[2] ?? '');
  if (id === '') return <RuleList />;
  if (id === 'new') return <RuleCreationForm />;
  return <RuleDetail key={id} id={id} />;
}
