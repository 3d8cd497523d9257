// The default look, with the fonts of the reader's system: nothing is loaded from elsewhere.
import Theme from 'vitepress/theme-without-fonts';
import './style.css';

export default Theme;
