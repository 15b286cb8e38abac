namespace Sluice.Usenet.Probing;

/// <summary>Where the name of a file comes from, best first.</summary>
public enum NameSource
{
    /// <summary>The file name in the subject of its articles.</summary>
    Subject,

    /// <summary>The name in the yEnc header.</summary>
    Yenc,

    /// <summary>The name of the release, with an extension by type.</summary>
    Release,
}
