using Sluice.Server.Auth;

namespace Sluice.Server.SabApi;

/// <summary>Judges the keys of calls (SAB-10 to SAB-12).</summary>
internal sealed class SabAccess(ApiKeyVerifier keys)
{
    /// <summary>The parameter that holds the key.</summary>
    public const string KeyParameter = "apikey";

    private const string KeyHeader = "X-Api-Key";

    /// <summary>Judges the key of a call, as far as its parameters are known.</summary>
    public ApiKeyVerdict Verify(HttpContext http, SabParameters parameters)
    {
        var key = parameters.Text(KeyParameter);
        return keys.Verify(key.Length > 0 ? key : http.Request.Headers[KeyHeader].ToString(), Caller.Of(http));
    }

    /// <summary>Answers a call that may not be made.</summary>
    public static Task RefuseAsync(HttpContext http, ApiKeyVerdict verdict)
    {
        if (verdict == ApiKeyVerdict.Throttled)
        {
            http.Response.Headers.RetryAfter = FailureBudget.RetryAfterSeconds;
            return SabAnswer.PlainAsync(http, StatusCodes.Status429TooManyRequests, SabTexts.KeyIncorrect);
        }

        var text = verdict == ApiKeyVerdict.Missing ? SabTexts.KeyRequired : SabTexts.KeyIncorrect;
        return SabCall.IsFamilyAgent(http)
            ? SabAnswer.ErrorAsync(http, text)
            : SabAnswer.PlainAsync(http, StatusCodes.Status403Forbidden, text);
    }
}
