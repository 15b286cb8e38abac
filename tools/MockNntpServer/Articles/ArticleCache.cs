namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>LRU cache of encoded articles by name, limited by bytes. Thread-safe.</summary>
internal sealed class ArticleCache(long capacity)
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, LinkedListNode<Entry>> _entries = new(StringComparer.Ordinal);
    private readonly LinkedList<Entry> _order = new();
    private long _used;

    /// <summary>Returns the article. One caller creates it while others wait, so that no article is encoded twice.</summary>
    public WireArticle GetOrAdd(string messageId, Func<WireArticle> make)
    {
        LinkedListNode<Entry>? node;
        lock (_lock)
        {
            if (_entries.TryGetValue(messageId, out node))
            {
                _order.Remove(node);
            }
            else
            {
                node = new LinkedListNode<Entry>(new Entry(messageId, make));
                _entries.Add(messageId, node);
            }

            _order.AddLast(node);
        }

        if (node.Value.Article.IsValueCreated)
            return node.Value.Article.Value;

        try
        {
            var article = node.Value.Article.Value;
            Charge(node, article.Cost);
            return article;
        }
        catch
        {
            lock (_lock)
                Remove(node);
            throw;
        }
    }

    public int Count
    {
        get
        {
            lock (_lock)
                return _entries.Count;
        }
    }

    public void Clear()
    {
        lock (_lock)
        {
            while (_order.First is { } oldest)
                Remove(oldest);
        }
    }

    private void Charge(LinkedListNode<Entry> node, long cost)
    {
        lock (_lock)
        {
            if (node.List is null || node.Value.Cost != 0)
                return;
            node.Value.Cost = cost;
            _used += cost;
            while (_used > capacity && _order.First is { } oldest)
                Remove(oldest);
        }
    }

    private void Remove(LinkedListNode<Entry> node)
    {
        if (node.List is null)
            return;
        _order.Remove(node);
        _entries.Remove(node.Value.MessageId);
        _used -= node.Value.Cost;
    }

    private sealed class Entry(string messageId, Func<WireArticle> make)
    {
        public string MessageId { get; } = messageId;

        public Lazy<WireArticle> Article { get; } = new(make);

        /// <summary>Bytes counted for the entry; 0 until it is created.</summary>
        public long Cost { get; set; }
    }
}
