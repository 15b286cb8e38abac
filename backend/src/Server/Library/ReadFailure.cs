namespace Sluice.Server.Library;

/// <summary>Why a library file cannot be read here and now.</summary>
internal enum ReadFailure
{
    /// <summary>Its bytes, or the list of its articles, are proved gone: asking again gives the same answer.</summary>
    Gone,

    /// <summary>More is read at once than there is memory for.</summary>
    Busy,

    /// <summary>Nothing is known about the bytes, because nobody could be asked.</summary>
    Unreachable,

    /// <summary>Nothing is known about the bytes, because what is stored about them here cannot be read at present.</summary>
    Unreadable,
}
