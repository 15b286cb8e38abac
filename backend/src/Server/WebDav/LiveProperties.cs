using System.Collections.Frozen;
using System.Globalization;

namespace Sluice.Server.WebDav;

/// <summary>The live properties listed in section 6 of the WebDAV contract.</summary>
internal sealed class LiveProperties : IPropertyManager
{
    /// <summary>1 PiB. Nothing here fills up, but clients refuse to work if no free space is reported.</summary>
    private const string AvailableBytes = "1125899906842624";

    private static readonly DavName Win32FileAttributes = new("urn:schemas-microsoft-com:", "Win32FileAttributes");

    private readonly FrozenDictionary<DavName, DavProperty> _byName;

    private LiveProperties(params DavProperty[] properties)
    {
        All = properties;
        _byName = properties.ToFrozenDictionary(property => property.Name);
    }

    public static IPropertyManager OfFiles { get; } = new LiveProperties(
        DavProperty.Of(DavName.Dav("displayname"), item => item.Name),
        DavProperty.Of(DavName.Dav("getcontentlength"), item => File(item).Length.ToString(CultureInfo.InvariantCulture)),
        DavProperty.Of(DavName.Dav("getcontenttype"), item => File(item).ContentType),
        DavProperty.Of(DavName.Dav("getlastmodified"), HttpDate),
        DavProperty.Of(DavName.Dav("creationdate"), InternetDate),
        DavProperty.Of(DavName.Dav("getetag"), item => File(item).ETag.ToString()),
        DavProperty.Of(DavName.Dav("resourcetype"), _ => ""),
        DavProperty.Of(DavName.Dav("iscollection"), _ => "0"),
        DavProperty.Of(Win32FileAttributes, item => item.IsReadOnly ? "00000021" : "00000020"));

    public static IPropertyManager OfCollections { get; } = new LiveProperties(
        DavProperty.Of(DavName.Dav("displayname"), item => item.Name),
        DavProperty.Of(DavName.Dav("getcontentlength"), _ => "0"),
        DavProperty.Of(DavName.Dav("getcontenttype"), _ => "httpd/unix-directory"),
        DavProperty.Of(DavName.Dav("getlastmodified"), HttpDate),
        DavProperty.Of(DavName.Dav("creationdate"), InternetDate),
        DavProperty.Of(DavName.Dav("resourcetype"), _ => "<D:collection/>", isMarkup: true),
        DavProperty.Of(DavName.Dav("iscollection"), _ => "1"),
        DavProperty.Of(Win32FileAttributes, _ => "00000010"),
        new DavProperty(DavName.Dav("quota-available-bytes"), (_, _) => ValueTask.FromResult(AvailableBytes), ByNameOnly: true),
        new DavProperty(DavName.Dav("quota-used-bytes"), ReadUsedBytesAsync, ByNameOnly: true, SameFor: item => ((IStoreCollection)item).QuotaOwner));

    public IReadOnlyList<DavProperty> All { get; }

    public DavProperty? Find(DavName name) => _byName.GetValueOrDefault(name);

    private static IStoreFile File(IStoreItem item) => (IStoreFile)item;

    private static async ValueTask<string> ReadUsedBytesAsync(IStoreItem item, CancellationToken cancellationToken)
    {
        var used = await ((IStoreCollection)item).GetUsedBytesAsync(cancellationToken);
        return used.ToString(CultureInfo.InvariantCulture);
    }

    /// <summary>RFC 9110, section 5.6.7: <c>Sat, 03 Jan 2026 10:00:00 GMT</c>. Clamped, because clients fail on dates before 1970.</summary>
    private static string HttpDate(IStoreItem item) => Clamp(item.LastModified).ToString("R", CultureInfo.InvariantCulture);

    /// <summary>RFC 3339 in UTC. Whole seconds, because Windows rejects more than three fractional digits.</summary>
    private static string InternetDate(IStoreItem item) =>
        Clamp(item.Created).ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", CultureInfo.InvariantCulture);

    private static DateTimeOffset Clamp(DateTimeOffset date) =>
        date < DateTimeOffset.UnixEpoch ? DateTimeOffset.UnixEpoch : date.ToUniversalTime();
}
