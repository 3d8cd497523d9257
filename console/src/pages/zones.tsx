import './zones.css';
import { useLocation } from 'wouter-preact';
import { PolicyCreationForm } from './zones/creation.tsx';
import { PolicyDetail } from './zones/detail.tsx';
import { ZoneList } from './zones/list.tsx';

/** Page of zones: `/zones` lists policies and assessments, `/zones/new` creates a policy, `/zones/ID` shows one. */
export function Zones() {
  const [location] = useLocation();
  const id = decodeURIComponent(location.split('/')[2] ?? '');
  if (id === '') return <ZoneList />;
  if (id === 'new') return <PolicyCreationForm />;
  return <PolicyDetail key={id} id={id} />;
}
