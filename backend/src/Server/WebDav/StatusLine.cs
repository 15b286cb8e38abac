using System.Globalization;
using Microsoft.AspNetCore.WebUtilities;

namespace Sluice.Server.WebDav;

/// <summary>Status lines in a multi-status body (RFC 4918, section 14.28): <c>HTTP-version SP code SP reason</c>.</summary>
internal static class StatusLine
{
    public static string For(int status) =>
        string.Create(CultureInfo.InvariantCulture, $"HTTP/1.1 {status} {ReasonPhrases.GetReasonPhrase(status)}");
}
