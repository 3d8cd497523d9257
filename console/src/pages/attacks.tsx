import './attacks.css';
import { useLocation } from 'wouter-preact';
import { AttackDetail } from './attacks/detail.tsx';
import { AttackList } from './attacks/list.tsx';

/** Page of attacks: `/attacks` lists them, `/attacks/ID` shows one. */
export function Attacks() {
  const [location] = useLocation();
  const id = location.split('/')[2] ?? '';
  return id === '' ? <AttackList /> : <AttackDetail key={id} id={decodeURIComponent(id)} />;
}
