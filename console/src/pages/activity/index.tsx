import './activity.css';
import { useLocation } from 'wouter-preact';
import { ChangeDetail } from './detail.tsx';
import { ChangeList } from './list.tsx';

/** Page of the audit log: `/activity` lists the changes, `/activity/TIME` shows the one of that time. */
export function Activity() {
  const [location] = useLocation();
  const at = decodeURIComponent(location.split('/')[2] ?? '');
  return at === '' ? <ChangeList /> : <ChangeDetail key={at} at={at} />;
}
