namespace Sluice.Usenet.Media;

/// <summary>What is done with a file of some <see cref="MediaKind"/>.</summary>
public enum MediaCategory
{
    /// <summary>Published as it is, but nothing to play.</summary>
    Other,

    /// <summary>Something to watch.</summary>
    Video,

    /// <summary>Something to listen to.</summary>
    Audio,

    /// <summary>Holds other files.</summary>
    Archive,

    /// <summary>Repairs other files.</summary>
    Par2,
}
