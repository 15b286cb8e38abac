import { useNavigate, useSearchParams } from "react-router";
import { LoginForm } from "@/features/login/login-form";
import { usePageTitle } from "@/lib/page-title";
import { t } from "../en";
import { returnPath } from "../guard";
import { BarePage } from "../shell/bare-page";

export function Component() {
  const navigate = useNavigate();
  const [search] = useSearchParams();
  usePageTitle(t("login"));
  return (
    <BarePage title={t("login")}>
      <LoginForm onLogin={() => void navigate(returnPath(search), { replace: true })} />
    </BarePage>
  );
}
