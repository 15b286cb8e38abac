namespace Sluice.Server.WebDav;

/// <summary>An element of a request body, with what the verbs need of it. Attributes have been checked and dropped.</summary>
/// <param name="Name">Its expanded name.</param>
/// <param name="Children">Its child elements in document order.</param>
/// <param name="Text">Its own text, without that of its children.</param>
internal sealed record DavXmlElement(DavName Name, IReadOnlyList<DavXmlElement> Children, string Text)
{
    /// <summary>The first child with this name in the <c>DAV:</c> namespace, or null.</summary>
    public DavXmlElement? Child(string local)
    {
        foreach (DavXmlElement child in Children)
        {
            if (child.Name.Namespace == DavName.DavNamespace && child.Name.Local == local)
                return child;
        }

        return null;
    }
}
