namespace Sluice.Usenet.Yenc;

/// <summary>Why <see cref="YencKernel.Decode"/> returned.</summary>
public enum YencStop
{
    /// <summary>All of the source is consumed; the article goes on.</summary>
    NeedInput,

    /// <summary>The next byte is data and the destination has no room for it. It is not consumed.</summary>
    DestinationFull,

    /// <summary>A line begins with <c>=y</c>; those two bytes are consumed, the rest of the line is not.</summary>
    Keyword,

    /// <summary>The terminating line of the NNTP body is consumed to its last byte.</summary>
    ArticleEnd,
}
