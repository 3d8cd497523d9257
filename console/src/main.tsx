import './console.css';
import { render } from 'preact';
import { Frame } from './frame.tsx';
import { restoreSession, session, signIn } from './session.ts';

const place = document.getElementById('app');
if (place === null) throw new Error('index.html has no element with the id app');
// The sign-in link that the server prints contains a one-time code. It must not stay in the address bar or history.
const code = new URLSearchParams(location.hash.slice(1)).get('code');
if (code !== null) history.replaceState(null, '', location.pathname + location.search);
render(<Frame />, place);
if (code !== null) await signIn({ code });
if (session.value === undefined) await restoreSession();
