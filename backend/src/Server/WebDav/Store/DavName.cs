namespace Sluice.Server.WebDav;

/// <summary>The expanded name of an XML element or property.</summary>
/// <param name="Namespace">Its namespace; empty for none.</param>
/// <param name="Local">Its name within the namespace.</param>
internal readonly record struct DavName(string Namespace, string Local)
{
    /// <summary>The namespace of RFC 4918.</summary>
    public const string DavNamespace = "DAV:";

    /// <summary>A name in <see cref="DavNamespace"/>.</summary>
    public static DavName Dav(string local) => new(DavNamespace, local);
}
