namespace Sluice.Usenet.Nntp.Wire;

/// <summary>The reply codes that a reader of articles meets (RFC 3977 section 3.2 and appendix B, RFC 4643).</summary>
internal static class NntpResponseCode
{
    public const int PostingAllowed = 200;
    public const int PostingProhibited = 201;
    public const int Body = 222;
    public const int ArticleExists = 223;
    public const int AuthenticationAccepted = 281;
    public const int PasswordRequired = 381;
    public const int ServiceUnavailable = 400;
    public const int NoArticleWithNumber = 423;
    public const int NoArticleWithId = 430;
    public const int ArticleRemoved = 451;
    public const int PermanentlyUnavailable = 502;

    /// <summary>Whether the code says that this server does not have the article.</summary>
    public static bool IsMiss(int code) => code is NoArticleWithId or NoArticleWithNumber or ArticleRemoved;
}
