namespace Sluice.Server.WebDav;

/// <summary>The expanded name of an XML element or property. <c>Namespace</c> may be empty.</summary>
internal readonly record struct DavName(string Namespace, string Local)
{
    public const string DavNamespace = "DAV:";

    public static DavName Dav(string local) => new(DavNamespace, local);
}
