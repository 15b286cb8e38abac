using Sluice.Server.Auth;

namespace Sluice.Server.SabApi;

/// <summary>Who may call (SAB-10 to SAB-12).</summary>
internal sealed class SabAccess(ApiKeyVerifier keys)
{
    private const string KeyHeader = "X-Api-Key";
    private const string RetryAfterSeconds = "60";

    /// <summary>Judges the key of a call.</summary>
    public ApiKeyVerdict Verify(HttpContext http, SabParameters parameters)
    {
        var key = parameters.Text("apikey");
        return keys.Verify(key.Length > 0 ? key : http.Request.Headers[KeyHeader].ToString(), http.Connection.RemoteIpAddress);
    }

    /// <summary>Answers a call that may not be made.</summary>
    public static Task RefuseAsync(HttpContext http, ApiKeyVerdict verdict)
    {
        if (verdict == ApiKeyVerdict.Throttled)
        {
            http.Response.Headers.RetryAfter = RetryAfterSeconds;
            return SabAnswer.PlainAsync(http, StatusCodes.Status429TooManyRequests, SabTexts.KeyIncorrect);
        }

        var text = verdict == ApiKeyVerdict.Missing ? SabTexts.KeyRequired : SabTexts.KeyIncorrect;
        return SabCall.IsFamilyAgent(http)
            ? SabAnswer.ErrorAsync(http, text)
            : SabAnswer.PlainAsync(http, StatusCodes.Status403Forbidden, text);
    }
}
