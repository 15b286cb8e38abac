using System.Buffers;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>One reply line, split into code and text without the line end.</summary>
/// <param name="Code">100–599.</param>
/// <param name="Text">Valid until the buffer that holds it is advanced.</param>
internal readonly record struct NntpResponse(int Code, ReadOnlySequence<byte> Text)
{
    // Words that providers add to 481 and 502 if an account has expired, is unpaid or has used up its volume.
    private static readonly string[] AccountWords =
        ["expired", "suspended", "blocked", "disabled", "inactive", "not active", "terminated", "cancelled", "canceled", "closed", "payment", "subscription", "quota", "credit", "exceeded"];

    /// <summary>Whether the text reports too many connections, as servers may do with 481 or 502.</summary>
    public bool SaysTooManyConnections()
    {
        var text = PrintableText();
        return text.Contains("too many", StringComparison.OrdinalIgnoreCase)
            || text.Contains("connection limit", StringComparison.OrdinalIgnoreCase)
            || text.Contains("connections", StringComparison.OrdinalIgnoreCase)
                && (text.Contains("limit", StringComparison.OrdinalIgnoreCase) || text.Contains("max", StringComparison.OrdinalIgnoreCase));
    }

    /// <summary>Whether the text of a refused login blames the account instead of the credentials.</summary>
    public bool SaysAccountIsOver()
    {
        var text = PrintableText();
        return Array.Exists(AccountWords, word => text.Contains(word, StringComparison.OrdinalIgnoreCase));
    }

    /// <summary>Up to 200 printable characters of the text, safe for a log line.</summary>
    public string PrintableText()
    {
        const int Longest = 200;
        var text = Text.Length > Longest ? Text.Slice(0, Longest) : Text;
        return string.Create((int)text.Length, text, static (span, source) =>
        {
            var at = 0;
            foreach (var memory in source)
            {
                foreach (var value in memory.Span)
                    span[at++] = value is >= 0x20 and < 0x7F ? (char)value : '?';
            }
        });
    }
}

/// <summary>The reply codes used by this client (RFC 3977 section 3.2 and appendix B, RFC 4643).</summary>
internal static class NntpResponseCode
{
    public const int PostingAllowed = 200;
    public const int PostingProhibited = 201;
    public const int Group = 211;
    public const int Body = 222;
    public const int ArticleExists = 223;
    public const int AuthenticationAccepted = 281;
    public const int PasswordRequired = 381;
    public const int ServiceUnavailable = 400;
    public const int NoArticleWithNumber = 423;
    public const int NoArticleWithId = 430;
    public const int ArticleRemoved = 451;
    public const int AuthenticationRequired = 480;
    public const int PermanentlyUnavailable = 502;

    /// <summary>Whether the code reports that this server does not have the article.</summary>
    public static bool IsMiss(int code) => code is NoArticleWithId or NoArticleWithNumber or ArticleRemoved;
}
