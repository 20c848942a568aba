"""The page for operators: view models, templates and the routes that show them."""
