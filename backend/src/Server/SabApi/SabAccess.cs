using Sluice.Server.Auth;
using Sluice.Server.Listening;
using Sluice.Server.Settings;

namespace Sluice.Server.SabApi;

/// <summary>Checks the keys and logins of calls (SAB-10 to SAB-12).</summary>
internal sealed class SabAccess(ApiKeyVerifier keys, BasicVerifier logins, SecretBox box)
{
    private const string KeyParameter = "apikey";
    private const string KeyHeader = "X-Api-Key";
    private const string UserParameter = "ma_username";
    private const string PasswordParameter = "ma_password";

    /// <summary>Checks a call's key, or else its login, using the parameters read so far.</summary>
    public async ValueTask<ApiKeyVerdict> VerifyAsync(HttpContext http, SabParameters parameters)
    {
        var key = parameters.Text(KeyParameter);
        var verdict = keys.Verify(key.Length > 0 ? key : http.Request.Headers[KeyHeader].ToString(), Caller.Of(http));
        if (verdict == ApiKeyVerdict.Missing && HasLogin(parameters))
            verdict = await VerifyLoginAsync(http, parameters);
        if (Opens(verdict))
            http.Prove();
        return verdict;
    }

    /// <summary>Whether a key allows an upload. The mode determines which key is needed, but may arrive after the file.</summary>
    public static bool Opens(ApiKeyVerdict key) => key is ApiKeyVerdict.Accepted or ApiKeyVerdict.AcceptedForAdds;

    /// <summary>Whether a form field completes the credentials.</summary>
    /// <param name="name">The field's name; the field is already among the parameters.</param>
    public static bool IsProof(string name, SabParameters parameters) =>
        name == KeyParameter || (name is UserParameter or PasswordParameter && HasLogin(parameters));

    public Task RefuseAsync(HttpContext http, ApiKeyVerdict verdict)
    {
        if (verdict == ApiKeyVerdict.Locked)
        {
            http.Response.Headers.RetryAfter = UnavailableGate.RetryAfterSeconds;
            return SabAnswer.RefuseAsync(http, StatusCodes.Status503ServiceUnavailable, $"{SabTexts.KeyLocked}{box.Cause}.");
        }

        if (verdict == ApiKeyVerdict.Throttled)
        {
            http.Response.Headers.RetryAfter = FailureBudget.RetryAfterSeconds;
            return SabAnswer.PlainAsync(http, StatusCodes.Status429TooManyRequests, SabTexts.KeyIncorrect);
        }

        var text = verdict == ApiKeyVerdict.Missing ? SabTexts.KeyRequired : SabTexts.KeyIncorrect;
        return SabCall.IsFamilyAgent(http)
            ? SabAnswer.RefuseAsync(http, StatusCodes.Status200OK, text)
            : SabAnswer.PlainAsync(http, StatusCodes.Status403Forbidden, text);
    }

    private static bool HasLogin(SabParameters parameters) =>
        parameters.Text(UserParameter).Length > 0 && parameters.Text(PasswordParameter).Length > 0;

    private async ValueTask<ApiKeyVerdict> VerifyLoginAsync(HttpContext http, SabParameters parameters)
    {
        var (user, password) = (parameters.Text(UserParameter), parameters.Text(PasswordParameter));
        return await logins.VerifyAsync(user, password, Caller.Of(http), http.RequestAborted) switch
        {
            LoginVerdict.Accepted => ApiKeyVerdict.Accepted,
            LoginVerdict.Refused => ApiKeyVerdict.Incorrect,
            // Too many pending logins get the same response as too many failed ones.
            _ => ApiKeyVerdict.Throttled,
        };
    }
}
