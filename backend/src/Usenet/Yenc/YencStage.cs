namespace Sluice.Usenet.Yenc;

/// <summary>Where in an article a decoder is.</summary>
internal enum YencStage
{
    /// <summary>Before <c>=ybegin</c>.</summary>
    Preamble,

    /// <summary>After <c>=ybegin</c>, until <c>=ypart</c> or the first byte of data.</summary>
    Header,

    /// <summary>In the data.</summary>
    Data,

    /// <summary>In a line that began with <c>=y</c>, before or in the data.</summary>
    Keyword,

    /// <summary>After the block, or where none is expected any more.</summary>
    Rest,

    /// <summary>After the terminating line.</summary>
    Ended,
}
