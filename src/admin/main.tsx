import { render } from 'preact';
import { Shell } from './frame/page-frame.tsx';
import './styles.css';

const page = document.getElementById('page');
if (page !== null) render(<Shell />, page);
