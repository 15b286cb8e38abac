using Sluice.Server.WebDav.Xml;

namespace Sluice.Server.WebDav.Properties;

/// <summary>A PROPPATCH body (RFC 4918, section 14.19): <c>propertyupdate (remove | set)+</c>, with one <c>prop</c> each. Ignores unknown elements.</summary>
internal static class PropPatchRequest
{
    /// <summary>Parses the steps in order. Throws <see cref="DavXmlException"/> if there are no steps.</summary>
    public static IReadOnlyList<PropertyChange> From(DavXmlElement? root)
    {
        if (root?.Name != DavName.Dav("propertyupdate"))
            throw new DavXmlException("The root element is not propertyupdate.");
        var changes = new List<PropertyChange>();
        foreach (var step in root.Children)
        {
            var isSet = step.Name == DavName.Dav("set");
            if (!isSet && step.Name != DavName.Dav("remove"))
                continue;
            var prop = step.Child("prop") ?? throw new DavXmlException("A step of the update names no properties.");
            foreach (var property in prop.Children)
                changes.Add(new PropertyChange(property.Name, isSet ? DavXmlWriter.Write(WithLanguage(property, prop, step, root)) : null));
        }

        return changes.Count > 0 ? changes : throw new DavXmlException("The update is empty.");
    }

    /// <summary>Copies an inherited <c>xml:lang</c> to the property, because the language is part of the value (RFC 4918, section 4.3).</summary>
    private static DavXmlElement WithLanguage(DavXmlElement property, params DavXmlElement[] around)
    {
        if (LanguageOf(property) is not null)
            return property;
        var language = around.Select(LanguageOf).FirstOrDefault(found => found is not null);
        return language is null
            ? property
            : property with { Attributes = [.. property.Attributes, new DavXmlAttribute(DavXmlAttribute.Language, language)] };
    }

    private static string? LanguageOf(DavXmlElement element)
    {
        foreach (var attribute in element.Attributes)
        {
            if (attribute.Name == DavXmlAttribute.Language)
                return attribute.Value;
        }

        return null;
    }
}
