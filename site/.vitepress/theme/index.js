// The default theme with system fonts, so that nothing is loaded from other origins.
import Theme from 'vitepress/theme-without-fonts';
import './style.css';

export default Theme;
