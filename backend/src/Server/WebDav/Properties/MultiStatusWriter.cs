using System.IO.Pipelines;
using Sluice.Server.WebDav.Xml;

namespace Sluice.Server.WebDav.Properties;

/// <summary>Streams a multi-status body one response at a time (DAV-50 to DAV-53), so that memory does not grow with the body's length.</summary>
internal sealed class MultiStatusWriter
{
    /// <summary>Bytes per flush: about forty entries.</summary>
    private const int FlushAfter = 16 * 1024;

    private readonly PipeWriter _output;
    private readonly DavXmlWriter _xml;
    private readonly PropFindRequest _asked;

    // The last value of each shared property, so that a long listing whose items share an owner reads the value only once.
    private readonly Dictionary<DavName, (object Owner, string Value)> _shared = [];
    private long _flushed;

    /// <summary>Starts the body. The caller still owns <paramref name="output"/>.</summary>
    public MultiStatusWriter(PipeWriter output, PropFindRequest asked)
    {
        _output = output;
        _xml = new DavXmlWriter(output);
        _asked = asked;
        _xml.Markup("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus xmlns:D=\"DAV:\">"u8);
    }

    /// <summary>Writes the response for one item. The 200 propstat always comes first and a 404 propstat last (DAV-51).</summary>
    public ValueTask WriteAsync(string href, IStoreItem item, CancellationToken cancellationToken) =>
        WriteAsync(href, item, item.Properties, cancellationToken);

    /// <summary>Writes the response for one item, with the given properties instead of its own.</summary>
    public async ValueTask WriteAsync(string href, IStoreItem item, IPropertyManager properties, CancellationToken cancellationToken)
    {
        _xml.Markup("<D:response><D:href>"u8);
        _xml.Text(href);
        _xml.Markup("</D:href><D:propstat><D:prop>"u8);
        if (_asked.Everything)
            await WriteEverythingAsync(item, properties, cancellationToken);
        foreach (var name in _asked.Names)
        {
            if (properties.Find(name) is { } property && (property.ByNameOnly || !_asked.Everything))
                await WriteValueAsync(property, item, cancellationToken);
        }

        WriteStatus(StatusCodes.Status200OK);
        if (!_asked.Everything)
            WriteUndefined(properties);
        _xml.Markup("</D:response>"u8);

        if (_xml.Written - _flushed >= FlushAfter)
            await FlushAsync(cancellationToken);
    }

    public ValueTask EndAsync(CancellationToken cancellationToken)
    {
        _xml.Markup("</D:multistatus>"u8);
        return FlushAsync(cancellationToken);
    }

    private async ValueTask FlushAsync(CancellationToken cancellationToken)
    {
        _flushed = _xml.Written;
        await _output.FlushAsync(cancellationToken);
    }

    private async ValueTask WriteEverythingAsync(IStoreItem item, IPropertyManager properties, CancellationToken cancellationToken)
    {
        foreach (var property in properties.All)
        {
            if (_asked.NamesOnly)
                _xml.Empty(property.Name);
            else if (!property.ByNameOnly)
                await WriteValueAsync(property, item, cancellationToken);
        }
    }

    private async ValueTask WriteValueAsync(DavProperty property, IStoreItem item, CancellationToken cancellationToken)
    {
        var value = property.SameFor is { } common
            ? await ReadSharedAsync(property, common(item), item, cancellationToken)
            : await property.Read(item, cancellationToken);
        if (property.IsWhole)
        {
            _xml.Markup(value);
            return;
        }

        if (value.Length == 0)
        {
            _xml.Empty(property.Name);
            return;
        }

        _xml.Start(property.Name);
        if (property.IsMarkup)
            _xml.Markup(value);
        else
            _xml.Text(value);
        _xml.End(property.Name);
    }

    private async ValueTask<string> ReadSharedAsync(DavProperty property, object owner, IStoreItem item, CancellationToken cancellationToken)
    {
        if (!_shared.TryGetValue(property.Name, out var last) || !last.Owner.Equals(owner))
            _shared[property.Name] = last = (owner, await property.Read(item, cancellationToken));
        return last.Value;
    }

    private void WriteUndefined(IPropertyManager properties)
    {
        var any = false;
        foreach (var name in _asked.Names)
        {
            if (properties.Find(name) is not null)
                continue;
            if (!any)
                _xml.Markup("<D:propstat><D:prop>"u8);
            any = true;
            _xml.Empty(name);
        }

        if (any)
            WriteStatus(StatusCodes.Status404NotFound);
    }

    private void WriteStatus(int status)
    {
        _xml.Markup("</D:prop><D:status>"u8);
        _xml.Markup(StatusLine.For(status));
        _xml.Markup("</D:status></D:propstat>"u8);
    }
}
