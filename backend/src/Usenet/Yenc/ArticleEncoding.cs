namespace Sluice.Usenet.Yenc;

/// <summary>How the body of an article is encoded.</summary>
public enum ArticleEncoding
{
    /// <summary>Nothing has been seen that tells.</summary>
    Unknown,

    /// <summary>yEnc.</summary>
    Yenc,

    /// <summary>uuencode.</summary>
    Uuencode,

    /// <summary>MIME base64.</summary>
    Base64,

    /// <summary>Text that carries no file.</summary>
    Text,
}
